const setting = 'remit single keys'

/** Whether single letters do something; they can be switched off, since speech control types them too. */
export const areKeysOn = () => localStorage.getItem(setting) !== 'off'
export const setKeysOn = (on: boolean) => localStorage.setItem(setting, on ? 'on' : 'off')
