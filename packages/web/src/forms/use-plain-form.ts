// A short form of texts that is sent once: no record behind it, no draft, so that a password is never kept.
import { type FormEvent, useState } from 'react'
import { describe, fieldErrors, type Trouble } from '../api/errors.ts'
import { useOnePress } from '../api/one-press.ts'
import { type FieldRules, problemOf } from './rules.ts'

type Errors = Readonly<Record<string, string>>

export interface PlainFormOptions<T> {
	readonly values: T
	readonly rules: Readonly<Partial<Record<keyof T, FieldRules>>>
	readonly send: (values: T) => Promise<void>
	/** What to say of an error that is of no field; undefined: as everywhere. */
	readonly explain?: (error: unknown) => Trouble | undefined
}

export function usePlainForm<T extends Record<string, string>>({ values: blank, rules, send, explain }: PlainFormOptions<T>) {
	const [values, setValues] = useState(blank)
	const [errors, setErrors] = useState<Errors>({})
	const [trouble, setTrouble] = useState<Trouble>()
	const [isPending, setPending] = useState(false)
	const once = useOnePress()

	const show = (found: readonly (readonly [string, string])[], form: HTMLFormElement) => {
		const own = found.filter(([name]) => name in values)
		setErrors(Object.fromEntries(own))
		const first = own[0] && form.elements.namedItem(own[0][0])
		if (first instanceof HTMLElement) first.focus()
		return own.length > 0
	}

	const submit = async (event: FormEvent<HTMLFormElement>) => {
		event.preventDefault()
		const form = event.currentTarget
		setTrouble(undefined)
		const wrong = Object.entries(rules).flatMap(([name, rule]) => {
			const problem = problemOf(rule as FieldRules, values[name])
			return problem ? [[name, problem] as const] : []
		})
		if (show(wrong, form) || isPending) return
		try {
			await once(JSON.stringify(values), async () => {
				setPending(true)
				await send(values).finally(() => setPending(false))
			})
		} catch (error) {
			if (!show(fieldErrors(error), form)) setTrouble(explain?.(error) ?? describe(error))
		}
	}

	return {
		values,
		setValues,
		trouble,
		isPending,
		submit,
		/** What a field of the form takes. */
		bind: (name: keyof T & string) => ({
			name,
			value: values[name] as string,
			onChange: (text: string) => setValues((before) => ({ ...before, [name]: text })),
			error: errors[name],
			isRequired: true,
		}),
	}
}
