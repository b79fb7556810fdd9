import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { emailSearch } from './email-search.ts';

/** Email log routes. */
export const emailRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'emails',
    validateSearch: emailSearch,
    component: lazyPage(() => import('./emails.tsx'), 'Emails'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'emails/$emailId',
    component: lazyPage(() => import('./email.tsx'), 'Email'),
  }),
] as const;
