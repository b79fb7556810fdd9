import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { auditSearch } from './audit-search.ts';

/** Settings and account routes. */
export const settingsRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'keys',
    component: lazyRouteComponent(() => import('./api-keys.tsx'), 'ApiKeys'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'members',
    component: lazyRouteComponent(() => import('./members.tsx'), 'Members'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'mailboxes',
    component: lazyRouteComponent(() => import('./mailboxes.tsx'), 'Mailboxes'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'sending',
    component: lazyRouteComponent(() => import('./sending.tsx'), 'Sending'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'audit',
    component: lazyRouteComponent(() => import('./audit-log.tsx'), 'AuditLog'),
    validateSearch: auditSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings',
    component: lazyRouteComponent(() => import('./project.tsx'), 'ProjectSettings'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'account',
    component: lazyRouteComponent(() => import('../account/account.tsx'), 'Account'),
  }),
] as const;
