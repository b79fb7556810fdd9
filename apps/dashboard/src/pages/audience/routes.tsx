import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';
import { contactSearch } from './contact-search.ts';
import { suppressionSearch } from './suppression-search.ts';

/** Audience routes. */
export const audienceRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'contacts',
    validateSearch: contactSearch,
    component: lazyPage(() => import('./contacts.tsx'), 'Contacts'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'contacts/$contactId',
    component: lazyPage(() => import('./contact.tsx'), 'Contact'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'groups',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./groups.tsx'), 'Groups'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'groups/$groupId',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./group.tsx'), 'Group'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'segments',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./segments.tsx'), 'Segments'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'segments/$segmentId',
    component: lazyPage(() => import('./segment.tsx'), 'Segment'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'fields',
    component: lazyPage(() => import('./custom-fields.tsx'), 'CustomFields'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'suppressions',
    validateSearch: suppressionSearch,
    component: lazyPage(() => import('./suppressions.tsx'), 'Suppressions'),
  }),
] as const;
