import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';
import { eventSearch } from './event-search.ts';

/** Custom event routes. */
export const eventRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'events',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./events.tsx'), 'Events'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'events/$definitionId',
    validateSearch: eventSearch,
    component: lazyPage(() => import('./event.tsx'), 'Event'),
  }),
] as const;
