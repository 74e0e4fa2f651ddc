// The checks of a form by the rules of the contract, for an answer before anything is sent. The server stays the judge.

/** Of generated/fields.ts. */
export interface FieldRules {
	readonly type: string
	readonly required?: boolean
	readonly nullable?: boolean
	readonly minLength?: number
	readonly maxLength?: number
	readonly pattern?: string
	readonly format?: string
}

/** What is wrong with a value; undefined when nothing is. */
export function problemOf(rules: FieldRules, value: unknown): string | undefined {
	const text = value === null || value === undefined ? '' : String(value).trim()
	if (text === '')
		return rules.required || rules.minLength ? (rules.nullable && !rules.required ? undefined : 'Fill this in') : undefined
	// Of a number that was not understood the field keeps the text, so that it is neither lost nor sent.
	if (rules.type === 'integer' && typeof value === 'string') return 'Enter a number'
	if (rules.type !== 'string') return undefined
	if (text.length < (rules.minLength ?? 0)) return `At least ${rules.minLength} characters`
	if (rules.maxLength !== undefined && text.length > rules.maxLength)
		return `At most ${rules.maxLength} characters, and this has ${text.length}`
	if (rules.format === 'email' && !/^[^@\s]+@[^@\s]+$/.test(text)) return 'Enter an e-mail address such as ada@example.com'
	return undefined
}
