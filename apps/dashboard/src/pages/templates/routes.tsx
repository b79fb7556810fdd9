import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';
import { versionSearch } from './version-search.ts';

/** Template routes. */
export const templateRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'templates',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('./templates.tsx'), 'Templates'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'templates/$templateId',
    component: lazyRouteComponent(() => import('./template.tsx'), 'Template'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'templates/$templateId/versions',
    validateSearch: versionSearch,
    component: lazyRouteComponent(() => import('./versions.tsx'), 'Versions'),
  }),
] as const;
