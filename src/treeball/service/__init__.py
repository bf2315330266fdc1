"""A read-only HTTP service of one model: what ``treeball serve`` runs. The rest of treeball never imports it."""
