import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** `npm run dev` says where the gateway is; the dashboard's requests go there, as if it had served the page. */
const gateway = process.env.POSTROOM_GATEWAY_URL;

/** Lists the scripts and styles of the build in `/app/files.json`, for `src/data/prefetch.ts`. */
const fileList: Plugin = {
  name: 'file-list',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const names = Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name));
    this.emitFile({ type: 'asset', fileName: 'app/files.json', source: JSON.stringify(names) });
  },
};

/** What sign-in and the report of a campaign share with other pages: no dialogs, menus or lists to choose from. */
const PLAIN = new RegExp(
  [
    'node_modules/@mantine/form/',
    '@mantine/hooks/.*/(create-storage|use-session-storage)[./]',
    'icons/Icon(Clock|Pencil|PlayerPause|PlayerPlay|PlayerStop)\\.',
    '@mantine/core/.*/(PasswordInput|PinInput)[./]',
    'src/components/(confirm\\.|description-list|email-preview|form|more-menu|use-navigate|use-single-run|use-sample-contact|workflow-link)',
    'src/data/(api-mutation|auth|unsaved-changes)',
    'src/pages/sign-in/auth-layout',
  ].join('|'),
);

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
        // Each request costs a round trip, and half of a page's code is useless to another: so there are a few files that
        // pages share, and a file for each page.
        codeSplitting: {
          groups: [
            { name: 'main', test: /src\/(main|pages\/home\/home)\.tsx$|graphql-sse/, priority: 3 },
            { name: 'plain', test: PLAIN, minShareCount: 2, priority: 2 },
            // What only pages of journeys need.
            {
              name: 'graph',
              test: /node_modules\/@dagrejs\/|src\/pages\/journeys\//,
              minShareCount: 2,
              priority: 1,
              includeDependenciesRecursively: false,
            },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
  resolve: { dedupe: ['react', 'react-dom', 'graphql', '@urql/core', 'get-nonce'] },
});
