import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';

export const domainRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'domains',
    component: lazyRouteComponent(() => import('./domains.tsx'), 'Domains'),
    validateSearch: pageSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'domains/$domain',
    component: lazyRouteComponent(() => import('./domain.tsx'), 'DomainPage'),
  }),
] as const;
