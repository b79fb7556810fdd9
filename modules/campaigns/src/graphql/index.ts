import './campaigns.ts';
import './preflight.ts';

export { Campaign } from './campaigns.ts';
