export { classifyHits } from './classify-hits.ts';
export { TRACKING_POLICY } from './policy.ts';
export { listLinks, storeLinks, type TrackedLink } from './links.ts';
export { type OwnSwitches, readTracking } from './switches.ts';
export { trackHtml, type TrackedHtml, type TrackingSwitches } from './track-html.ts';
export { startTracking, type Tracking } from './tracking-requests.ts';
export { readTrackingToken, trackingToken } from './token.ts';
export { addUtm, type Utm, UTM_NAMES } from './utm.ts';
