import './campaigns.ts';
import './preflight.ts';
import './recipient-actions.ts';
