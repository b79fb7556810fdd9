import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { backtestSearch } from './backtest-labels.ts';
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
    path: 'backtests/$backtestId',
    validateSearch: backtestSearch,
    component: lazyPage(() => import('./backtest.tsx'), 'Backtest'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'enrollments/$enrollmentId',
    component: lazyPage(() => import('./enrollment.tsx'), 'Enrollment'),
  }),
] as const;
