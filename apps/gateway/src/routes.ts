import type { Route, StreamRoute } from '@postroom/platform';
import { loadParts } from '@postroom/registry';

const parts = await loadParts('rest');

/** Every `/v1` route, in the order of the reference. */
export const routes: readonly Route[] = parts.flatMap((part) => part.routes);

/** The routes whose bodies or responses are too large to buffer. */
export const streams: readonly StreamRoute[] = parts.flatMap((part) => part.streams ?? []);

/** Files for signed-in users only. */
export const downloads: readonly StreamRoute[] = parts.flatMap((part) => part.downloads ?? []);
