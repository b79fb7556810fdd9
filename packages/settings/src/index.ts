export { parseNetworks } from './networks.ts';
export { CELL_NAME } from './settings.ts';
export {
  type AddressScope,
  checkSettings,
  type Config,
  isProgram,
  parseConfig,
  type Program,
  PROGRAM_NAMES,
  readSettingFiles,
} from './parse-config.ts';
export { applicationName, REQUIREMENTS } from './programs.ts';
export { readSecretKeys, SECRET_KEY_SETTINGS, type SecretKey } from './secret-keys.ts';
export { SECRETS, SECTIONS } from './settings.ts';
export { temporalSettings } from './temporal-settings.ts';
