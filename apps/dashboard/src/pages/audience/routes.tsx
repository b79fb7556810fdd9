import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
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
    component: lazyRouteComponent(() => import('./contacts.tsx'), 'Contacts'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'contacts/$contactId',
    component: lazyRouteComponent(() => import('./contact.tsx'), 'Contact'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'groups',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('./groups.tsx'), 'Groups'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'groups/$groupId',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('./group.tsx'), 'Group'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'segments',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('./segments.tsx'), 'Segments'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'segments/$segmentId',
    component: lazyRouteComponent(() => import('./segment.tsx'), 'Segment'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'fields',
    component: lazyRouteComponent(() => import('./custom-fields.tsx'), 'CustomFields'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'suppressions',
    validateSearch: suppressionSearch,
    component: lazyRouteComponent(() => import('./suppressions.tsx'), 'Suppressions'),
  }),
] as const;
