import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';

export const domainRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'domains',
    component: lazyPage(() => import('./domains.tsx'), 'Domains'),
    validateSearch: pageSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'domains/$domain',
    component: lazyPage(() => import('./domain.tsx'), 'DomainPage'),
  }),
] as const;
