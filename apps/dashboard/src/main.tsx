import './app/mantine-styles.ts';
import './app/fonts/fonts.css';
import './app/app.css';
import { MantineProvider } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { keepFocus } from './app/keep-focus.ts';
import { router } from './app/router.tsx';
import { cssVariables, theme } from './app/theme.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '';
// The modal scroll lock creates a style element and takes its CSP nonce from this package.
setNonce(nonce);

keepFocus();

// Paper is white.
const { dataset } = document.documentElement;
let scheme = dataset.mantineColorScheme;
addEventListener('beforeprint', () => {
  scheme = dataset.mantineColorScheme;
  dataset.mantineColorScheme = 'light';
});
addEventListener('afterprint', () => (dataset.mantineColorScheme = scheme));

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id root.');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={() => nonce}
    >
      <RouterProvider router={router} />
    </MantineProvider>
  </StrictMode>,
);
