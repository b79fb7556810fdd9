import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { homeSearch } from './period.ts';

/** The home route. */
export const homeRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/',
    validateSearch: homeSearch,
    component: lazyRouteComponent(() => import('./home.tsx'), 'Home'),
  }),
] as const;
