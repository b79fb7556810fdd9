import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { pageFor } from '../../app/page-for.tsx';
import { projectRoute } from '../../app/routes.tsx';
import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { DeliveryState } from '../../generated/graphql.ts';
import { STATES } from './states.ts';

/** Search parameters of the delivery list. */
export interface DeliverySearch extends PageSearch {
  state?: DeliveryState;
  type?: string;
}

function deliverySearch({ state, type, ...rest }: Record<string, unknown>): DeliverySearch {
  return {
    ...pageSearch(rest),
    ...(typeof state === 'string' && state in STATES ? { state: state as DeliveryState } : {}),
    ...(typeof type === 'string' ? { type } : {}),
  };
}

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'webhooks',
    component: lazyPage(() => import('./endpoints.tsx'), 'Endpoints'),
    validateSearch: pageSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'webhooks/new',
    component: pageFor(
      'write',
      lazyPage(() => import('./new-endpoint.tsx'), 'NewEndpoint'),
    ),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'webhooks/$endpointId',
    component: lazyPage(() => import('./endpoint.tsx'), 'EndpointPage'),
    validateSearch: deliverySearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'webhooks/$endpointId/edit',
    component: pageFor(
      'write',
      lazyPage(() => import('./edit-endpoint.tsx'), 'EditEndpoint'),
    ),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'webhooks/$endpointId/deliveries/$deliveryId',
    component: lazyPage(() => import('./delivery.tsx'), 'DeliveryPage'),
  }),
] as const;
