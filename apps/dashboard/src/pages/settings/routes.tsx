import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { pageFor } from '../../app/page-for.tsx';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';
import { auditSearch } from './audit-search.ts';

/** Settings and account routes. */
export const settingsRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'keys',
    component: pageFor(
      'manage',
      lazyPage(() => import('./api-keys.tsx'), 'ApiKeys'),
    ),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'members',
    component: lazyPage(() => import('./members.tsx'), 'Members'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'mailboxes',
    component: lazyPage(() => import('./mailboxes.tsx'), 'Mailboxes'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'sending',
    component: pageFor(
      'manage',
      lazyPage(() => import('./sending.tsx'), 'Sending'),
    ),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'audit',
    component: pageFor(
      'manage',
      lazyPage(() => import('./audit-log.tsx'), 'AuditLog'),
    ),
    validateSearch: auditSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'notifications',
    component: pageFor(
      'manage',
      lazyPage(() => import('./notification-list.tsx'), 'NotificationList'),
    ),
    validateSearch: pageSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings',
    component: lazyPage(() => import('./project.tsx'), 'ProjectSettings'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'account',
    component: lazyPage(() => import('../account/account.tsx'), 'Account'),
  }),
] as const;
