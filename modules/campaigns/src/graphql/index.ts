import './campaigns.ts';
import './policy.ts';
import './preflight.ts';
import './recipients.ts';
import './recipient-actions.ts';
