export { lastNotified, type Notice, notify } from './notify.ts';
