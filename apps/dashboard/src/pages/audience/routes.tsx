import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { contactSearch } from './contact-search.ts';

/** Whom a project writes to. */
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
] as const;
