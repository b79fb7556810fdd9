import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';

/** Import routes. */
export const importRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'imports',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('./imports.tsx'), 'Imports'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'imports/new',
    component: lazyRouteComponent(() => import('./new-import.tsx'), 'NewImport'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'imports/$importId',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('./import.tsx'), 'Import'),
  }),
] as const;
