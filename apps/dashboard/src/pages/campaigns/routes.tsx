import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/routes.tsx';
import { campaignSearch } from './campaign-search.ts';
import { recipientSearch } from './recipient-search.ts';

/** Campaign routes. */
export const campaignRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'campaigns',
    validateSearch: campaignSearch,
    component: lazyRouteComponent(() => import('./campaigns.tsx'), 'Campaigns'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'campaigns/$campaignId',
    component: lazyRouteComponent(() => import('./campaign.tsx'), 'Campaign'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'campaigns/$campaignId/recipients',
    validateSearch: recipientSearch,
    component: lazyRouteComponent(() => import('./recipients.tsx'), 'Recipients'),
  }),
] as const;
