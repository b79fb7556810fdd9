import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { pageSearch } from '../../data/paging.ts';
import { campaignSearch } from './campaign-search.ts';
import { recipientSearch } from './recipient-search.ts';

/** Campaign routes. */
export const campaignRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'campaigns',
    validateSearch: campaignSearch,
    component: lazyPage(() => import('./campaigns.tsx'), 'Campaigns'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'campaigns/$campaignId',
    component: lazyPage(() => import('./campaign.tsx'), 'Campaign', { forms: false }),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'campaigns/$campaignId/recipients',
    validateSearch: recipientSearch,
    component: lazyPage(() => import('./recipients.tsx'), 'Recipients'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'ab-tests',
    validateSearch: pageSearch,
    component: lazyPage(() => import('./ab-tests.tsx'), 'AbTests'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'ab-tests/$abTestId',
    component: lazyPage(() => import('./ab-test.tsx'), 'AbTest'),
  }),
] as const;
