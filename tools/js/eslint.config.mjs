// What the type checker does not look for. Names that one script takes from another are tsc's business (no-undef).
import js from '@eslint/js';
import globals from 'globals';

export default [
  js.configs.recommended,
  {
    files: ['**/report/**/*.js'],
    languageOptions: { ecmaVersion: 2022, sourceType: 'script', globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-undef': 'off',
      'no-unused-vars': ['error', { vars: 'local' }],
      'no-control-regex': 'off',
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-implied-eval': 'error',
      'no-eval': 'error',
      'no-shadow': ['error', { builtinGlobals: false }],
      'no-loop-func': 'error',
      'no-promise-executor-return': 'error',
      'no-self-compare': 'error',
      'no-unreachable-loop': 'error',
      'no-use-before-define': ['error', { functions: false, variables: false }],
      'no-restricted-properties': ['error',
        { property: 'innerHTML', message: 'Text goes in as text: see dom.js.' },
        { property: 'outerHTML', message: 'Text goes in as text: see dom.js.' },
        { property: 'insertAdjacentHTML', message: 'Text goes in as text: see dom.js.' },
      ],
    },
  },
];
