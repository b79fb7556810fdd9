import { PRIVACY_STAGES, type PrivacyPart } from '@postroom/platform';
import * as platform from '@postroom/platform/privacy';
import { loadParts } from '@postroom/registry';

let loaded: Promise<PrivacyPart[]> | undefined;

/** The privacy parts of all modules, in the order of their stages. */
export const privacyParts = (): Promise<PrivacyPart[]> =>
  (loaded ??= loadParts('privacy').then((parts) =>
    [platform, ...parts].sort((a, b) => PRIVACY_STAGES.indexOf(a.stage) - PRIVACY_STAGES.indexOf(b.stage)),
  ));
