import './campaigns.ts';
import './preflight.ts';
