import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { journeySearch, journeysSearch } from './journey-search.ts';

/** Journey routes. */
export const journeyRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'journeys',
    validateSearch: journeysSearch,
    component: lazyPage(() => import('./journeys.tsx'), 'Journeys'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'journeys/$journeyId',
    validateSearch: journeySearch,
    component: lazyPage(() => import('./journey.tsx'), 'Journey'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'enrollments/$enrollmentId',
    component: lazyPage(() => import('./enrollment.tsx'), 'Enrollment'),
  }),
] as const;
