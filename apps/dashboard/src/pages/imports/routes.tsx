import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { pageFor } from '../../app/page-for.tsx';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';

/** Import routes. */
export const importRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'imports',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./imports.tsx'), 'Imports'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'imports/new',
    component: pageFor(
      'write',
      lazyPage(() => import('./new-import.tsx'), 'NewImport'),
    ),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'imports/$importId',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./import.tsx'), 'Import'),
  }),
] as const;
