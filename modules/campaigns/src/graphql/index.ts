export { Campaign } from './campaigns.ts';
