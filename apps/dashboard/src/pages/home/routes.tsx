import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { homeSearch } from './period.ts';

/** The first page of a project. */
export const homeRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/',
    validateSearch: homeSearch,
    component: lazyRouteComponent(() => import('./home.tsx'), 'Home'),
  }),
] as const;
