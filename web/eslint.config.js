import eslint from '@eslint/js';
import angular from 'angular-eslint';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['**/node_modules/', '**/dist/', '.angular/']),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' },
  },
  {
    files: ['**/*.js'],
    extends: [eslint.configs.recommended],
  },
  {
    files: ['**/*.ts'],
    extends: [eslint.configs.recommended, tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreVoidReturningFunctions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      complexity: ['error', 12],
      eqeqeq: 'error',
      'max-lines': ['error', 400],
      'max-params': ['error', 5],
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 40 }] },
  },
  {
    files: ['client/src/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ group: ['@angular/*', 'rxjs', 'rxjs/*'], message: 'The client knows no framework.' }] }],
    },
  },
  {
    files: ['client/examples/**/*.ts', 'dashboard/src/main.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['client/examples/**/*.ts'],
    rules: { '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }] },
  },
  {
    files: ['live-table/**/*.ts', 'dashboard/**/*.ts'],
    extends: [angular.configs.tsRecommended],
    rules: {
      '@angular-eslint/component-selector': ['error', { type: 'element', prefix: ['live', 'tablecast'], style: 'kebab-case' }],
      '@angular-eslint/no-uncalled-signals': 'error',
      '@angular-eslint/prefer-output-readonly': 'error',
      '@angular-eslint/prefer-signals': 'error',
      '@angular-eslint/use-lifecycle-interface': 'error',
    },
  },
  {
    files: ['**/*.html'],
    ignores: ['dashboard/src/index.html'],
    extends: [angular.configs.templateRecommended, angular.configs.templateAccessibility],
    rules: {
      '@angular-eslint/template/button-has-type': 'error',
      // A binding sets a property by script, which a content security policy without inline styles allows.
      '@angular-eslint/template/no-inline-styles': ['error', { allowBindToStyle: true }],
      '@angular-eslint/template/prefer-control-flow': 'error',
    },
  },
);
