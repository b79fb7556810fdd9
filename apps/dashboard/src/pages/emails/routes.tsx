import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { emailSearch } from './email-search.ts';

/** Email log routes. */
export const emailRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'emails',
    validateSearch: emailSearch,
    component: lazyRouteComponent(() => import('./emails.tsx'), 'Emails'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'emails/$emailId',
    component: lazyRouteComponent(() => import('./email.tsx'), 'Email'),
  }),
] as const;
