import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';

/** The settings of a project, and one's own. */
export const settingsRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/p/$projectId/keys', params });
    },
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'keys',
    component: lazyRouteComponent(() => import('./api-keys.tsx'), 'ApiKeys'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'account',
    component: lazyRouteComponent(() => import('./account.tsx'), 'Account'),
  }),
] as const;
