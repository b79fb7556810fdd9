import { safeRedirect } from '@postroom/platform/safe-redirect';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/routes.tsx';

const withToken = (search: Record<string, unknown>): { token?: string } =>
  typeof search.token === 'string' ? { token: search.token } : {};

/** What people see who are not signed in. */
export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
    // Only paths of ours: a link to here must not lead people to another site.
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
    component: lazyRouteComponent(() => import('./reset-password.tsx'), 'ResetPassword'),
    validateSearch: withToken,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/invitation',
    component: lazyRouteComponent(() => import('./invitation.tsx'), 'Invitation'),
    validateSearch: withToken,
  }),
] as const;
