import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';
import { versionSearch } from './version-search.ts';

/** Template routes. */
export const templateRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'templates',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./templates.tsx'), 'Templates'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'templates/$templateId',
    component: lazyPage(() => import('./template.tsx'), 'Template'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'templates/$templateId/versions',
    validateSearch: versionSearch,
    component: lazyPage(() => import('./versions.tsx'), 'Versions'),
  }),
] as const;
