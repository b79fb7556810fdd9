import './campaigns.ts';
import './policy.ts';
import './preflight.ts';
import './recipient-actions.ts';
