export { type Script, ScriptedServer } from './scripted-server.ts';
