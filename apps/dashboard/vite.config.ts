import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** `npm run dev` says where the gateway is; the dashboard's requests go there, as if it had served the page. */
const gateway = process.env.POSTROOM_GATEWAY_URL;

/** What only forms and dialogs need. */
const FORMS =
  /@mantine\/form|@mantine\/core\/esm\/components\/(Combobox|Select|Modal|ModalBase)\/|src\/components\/(form|confirm)\.tsx/;

/** What only menus, lists of options and tooltips need. */
const OVERLAYS =
  /@floating-ui|node_modules\/(react-remove-scroll|use-sidecar|use-callback-ref|react-style-singleton|tslib)|@mantine\/core\/esm\/(utils\/Floating|core\/utils\/(create-scoped-keydown-handler|find-element-ancestor|get-context-item-index)|components\/(Menu|Popover|Tooltip|ScrollArea(?!\/utils\/to-int)|Portal|FocusTrap|Transition\/get-transition-props))\//;

/** Small parts of pages with figures, which load together. */
const FIGURES =
  /@mantine\/core\/esm\/components\/(FloatingIndicator|Progress|ScrollArea\/utils\/to-int|SegmentedControl|SimpleGrid)\/|core\/utils\/get-env\/|src\/components\/(change|chart-figure|stats)\.tsx/;

/** Lists the scripts and styles of the build in `/app/files.json`, for `src/data/prefetch.ts`. */
const fileList: Plugin = {
  name: 'file-list',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const names = Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name));
    this.emitFile({ type: 'asset', fileName: 'app/files.json', source: JSON.stringify(names) });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  server: {
    host: '127.0.0.1',
    ...(gateway === undefined
      ? {}
      : {
          // The gateway's port is N, and this one's N + 8: the launcher uses those between.
          port: Number(new URL(gateway).port) + 8,
          proxy: {
            '^/(v1|graphql|app|docs|t|u|healthz)(/|$)': {
              target: gateway,
              changeOrigin: true,
              headers: { origin: gateway },
            },
          },
        }),
  },
  plugins: [react(), fileList],
  build: {
    // The content security policy takes no data: URLs and no inline script.
    assetsInlineLimit: 0,
    target: 'es2023',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        // What most pages share is one file: each request costs a round trip. Forms are another: the first page has none.
        codeSplitting: {
          groups: [
            { name: 'forms', test: FORMS, minShareCount: 8, priority: 1, includeDependenciesRecursively: false },
            { name: 'overlays', test: OVERLAYS, minShareCount: 2, priority: 2, includeDependenciesRecursively: false },
            { name: 'figures', test: FIGURES, minShareCount: 2, priority: 1, includeDependenciesRecursively: false },
            { name: 'shared', minShareCount: 16 },
          ],
        },
      },
    },
  },
  resolve: { dedupe: ['react', 'react-dom', 'graphql', '@urql/core', 'get-nonce'] },
});
