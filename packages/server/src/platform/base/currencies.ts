import currencies from 'currency-codes'

/** The decimal places of a currency by ISO 4217; undefined for a code that is none. */
export const minorDigits = (currency: string): number | undefined => currencies.code(currency)?.digits

/** The codes of ISO 4217. */
export const currencyCodes: readonly string[] = currencies.codes()
