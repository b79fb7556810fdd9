export { BURST_LINKS, CLASSIFY_AFTER_MS, classifyHits, TOO_SOON_MS } from './classify-hits.ts';
export { listLinks, storeLinks, type TrackedLink } from './links.ts';
export { type OwnSwitches, readTracking } from './switches.ts';
export { trackHtml, type TrackedHtml, type TrackingSwitches } from './track-html.ts';
export { startTracking, type Tracking } from './tracking-requests.ts';
export { trackingToken } from './token.ts';
