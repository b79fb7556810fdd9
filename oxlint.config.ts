import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineConfig } from 'oxlint';

const ROOT = import.meta.dirname;

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** What a production install leaves out has only devDependencies. */
export const BUILD_ONLY = ['apps/dashboard', 'packages/testkit'];

const packages = globSync(['{apps,modules,packages}/*/package.json'], { cwd: ROOT })
  .sort()
  .map((path) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
    return { ...manifest, folder: dirname(path).replaceAll('\\', '/') };
  });

const isApp = ({ folder }: { folder: string }) => folder.startsWith('apps/');

/** Programs use modules and packages. Nothing imports a program, not even a test helper, nor its types. */
const APPS = {
  group: packages.filter(isApp).flatMap(({ name }) => [name, `${name}/**`]),
  message: 'Nothing imports an app. Tests get the running programs from testkit.',
};

/** The packages that the sources of a package may import: the `dependencies` of its package.json. */
function layerOf({ name, folder, dependencies = {}, devDependencies = {} }: (typeof packages)[number]) {
  const declared = BUILD_ONLY.includes(folder) ? devDependencies : dependencies;
  const allowed = Object.keys(declared).filter((each) => each.startsWith('@postroom/'));
  // A module may compose the SQL that a module above offers for its own tables.
  const sql = folder.startsWith('modules/') && name !== '@postroom/platform' ? ['!@postroom/*/sql'] : [];
  return {
    files: [`${folder}/src/**`],
    rules: restricted([
      {
        group: ['@postroom/*', '@postroom/*/**', ...allowed.flatMap((each) => [`!${each}`, `!${each}/*`]), ...sql],
        message: `${name} may import ${allowed.join(', ') || 'none of our packages'}. Declare another one in its package.json only if docs/architecture.md shows that dependency.`,
      },
      APPS,
    ]),
  };
}

function restricted(patterns: { group: string[]; message: string; allowTypeImports?: boolean }[]) {
  return { 'no-restricted-imports': ['error', { patterns }] as ['error', object] };
}

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'vitest'],
  categories: {
    correctness: 'error',
    suspicious: 'error',
  },
  rules: {
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/no-unnecessary-type-arguments': 'off',
    'typescript/no-unnecessary-type-assertion': 'off',
    'typescript/consistent-return': 'off',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default': 'off',
    'import/no-named-as-default-member': 'off',
    'no-shadow': 'off',
    'no-underscore-dangle': 'off',
    'no-await-in-loop': 'off',
    'promise/always-return': 'off',
    'promise/catch-or-return': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'unicorn/require-module-specifiers': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'no-unmodified-loop-condition': 'off',
    'no-unused-vars': [
      'error',
      {
        argsIgnorePattern: '^_',
        varsIgnorePattern: '^_',
      },
    ],
    'promise/no-callback-in-promise': 'off',
    'vitest/require-to-throw-message': 'off',
    'vitest/valid-expect': 'off',
    'typescript/no-misused-spread': 'off',
    'typescript/no-generated-empty-object-type': 'off',
    'typescript/require-array-sort-compare': 'off',
    'typescript/no-redundant-type-constituents': 'off',
    'typescript/no-unnecessary-type-parameters': 'off',
    'typescript/no-unsafe-enum-comparison': 'off',
  },
  overrides: [
    {
      files: ['apps/dashboard/test/**'],
      rules: {
        'vitest/expect-expect': 'off',
      },
    },
    {
      files: ['apps/dashboard/src/**'],
      plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'react', 'jsx-a11y', 'vitest'],
      rules: {
        'react/exhaustive-deps': 'error',
        'react/rules-of-hooks': 'error',
        'react/react-in-jsx-scope': 'off',
        'react/no-array-index-key': 'off',
        'react/jsx-no-constructed-context-values': 'error',
        'react/no-danger': 'error',
        'jsx-a11y/no-autofocus': 'off',
        'jsx-a11y/anchor-has-content': 'off',
      },
    },
    // Tests may import more than sources, but no app except their own.
    { files: ['{modules,packages}/*/test/**'], rules: restricted([APPS]) },
    ...packages.map(layerOf),
    {
      files: ['modules/*/src/sql.ts'],
      rules: restricted([
        {
          group: ['*', './*', '../*', '@*/*', '@*/*/**'],
          message: 'A module below may compose this SQL, so this file imports nothing.',
        },
      ]),
    },
    {
      files: ['workflows/src/**', 'modules/*/src/workflows/**'],
      rules: restricted([
        {
          group: ['@postroom/*', '@postroom/*/**', 'node:*'],
          allowTypeImports: true,
          message: 'A workflow imports @temporalio/workflow, and the rest as types.',
        },
        APPS,
      ]),
    },
  ],
  ignorePatterns: ['**/generated/**', '**/dist/**'],
});
