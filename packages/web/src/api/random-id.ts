/** 128 random bits: of a request that is not to be done twice, or of a row that has no id yet. Pages that came by plain http from another machine have no `crypto.randomUUID`. */
export const randomId = (): string =>
	Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
