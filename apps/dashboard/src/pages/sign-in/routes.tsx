import { safeRedirect } from '@postroom/network/safe-redirect';
import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { rootRoute } from '../../app/routes.tsx';

const withToken = (search: Record<string, unknown>): { token?: string } =>
  typeof search.token === 'string' ? { token: search.token } : {};

/** Routes without a session. */
export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    component: lazyPage(() => import('./sign-in.tsx'), 'SignIn'),
    // Allows only local paths, to prevent open redirects.
    validateSearch: (search: Record<string, unknown>): { to?: string; error?: string } => {
      const to = safeRedirect(search.to, window.location.origin);
      return {
        ...(to === undefined ? {} : { to }),
        ...(typeof search.error === 'string' ? { error: search.error } : {}),
      };
    },
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/reset-password',
    component: lazyPage(() => import('./reset-password.tsx'), 'ResetPassword'),
    // The server leads here with an error if the link can't be used.
    validateSearch: (search: Record<string, unknown>): { token?: string; error?: string } => ({
      ...withToken(search),
      ...(typeof search.error === 'string' ? { error: search.error } : {}),
    }),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/invitation',
    component: lazyPage(() => import('./invitation.tsx'), 'Invitation'),
    validateSearch: withToken,
  }),
] as const;
