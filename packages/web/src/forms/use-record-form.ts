// A form of one record: what changed is the PATCH, what another changed meanwhile is merged, what is not saved outlasts a reload.
import { useEffect, useRef, useState } from 'react'
import { type DefaultValues, type FieldValues, type Path, useForm, useWatch } from 'react-hook-form'
import { describe, fieldErrors, isConflict, type Trouble } from '../api/errors.ts'
import { useIdempotencyKey } from '../api/idempotency-key.ts'
import { useOnePress } from '../api/one-press.ts'
import { type Draft, readDraft, writeDraft } from './draft.ts'
import { changes, type FieldConflict, merge } from './merge.ts'
import { type FieldRules, problemOf } from './rules.ts'

export interface RecordFormOptions<T extends FieldValues> {
	/** The record as it is in the form. */
	readonly values: T
	/** Of the record; 0 for a new one. */
	readonly version: number
	/** Whose draft of which record: person, kind and id. */
	readonly draftKey: readonly string[]
	readonly rules: Readonly<Partial<Record<keyof T, FieldRules>>>
	/** A field that no draft keeps. */
	readonly secret?: keyof T
	/** Sends the changed fields, of a new record all; rejects with 412 when the record has another version. */
	readonly save: (changed: Partial<T>, version: number, idempotencyKey: string) => Promise<void>
	/** What is wrong beyond the rules, by the name of the field. */
	readonly check?: (values: T) => readonly (readonly [name: string, message: string])[]
	/** The name in the form of a field of the contract, where it is another one. */
	readonly nameOf?: (name: string) => string
	/** Reads the record again, after a 412. */
	readonly reload?: () => Promise<{ values: T; version: number }>
	/** Whether the form is still there when it is saved, and goes on with what the server has then (`reload`). */
	readonly staysOpen?: boolean
}

export function useRecordForm<T extends FieldValues>(options: RecordFormOptions<T>) {
	const { values, version, rules, save, reload, check, nameOf = (name) => name, staysOpen = false } = options
	const [base, setBase] = useState({ values, version })
	const key = [...options.draftKey, base.version]
	const [draft, setDraft] = useState<Draft<T> | undefined>(() => readDraft<T>(key))
	const [conflicts, setConflicts] = useState<readonly FieldConflict[]>([])
	const [trouble, setTrouble] = useState<Trouble>()
	const [isMerged, setMerged] = useState(false)
	const sending = useIdempotencyKey()
	const once = useOnePress()
	const form = useForm<T>({ defaultValues: { ...base.values, ...draft?.values } as DefaultValues<T>, shouldFocusError: true })
	const current = useWatch({ control: form.control }) as T
	const changed = changes(base.values, current)
	const isDirty = Object.keys(changed).length > 0
	const isSaved = useRef(false)
	const { [options.secret ?? '']: _, ...kept } = current
	useKeepDraft(key, kept as Partial<T>, isDirty, isSaved)

	/** Shows the errors at their fields; the first has the focus. Returns whether any has a field. */
	const show = (errors: readonly (readonly [string, string])[]) => {
		const own = errors.filter(([name]) => (name.split('.')[0] as string) in base.values)
		own.forEach(([name, message], index) => {
			form.setError(name as Path<T>, { message }, { shouldFocus: index === 0 })
		})
		return own.length > 0
	}

	/** Takes over what the server has now; what was typed since `from` stays. */
	const follow = async (from = base.values) => {
		const theirs = await (reload as NonNullable<typeof reload>)()
		const merged = merge(from, form.getValues(), theirs.values)
		writeDraft(key, undefined)
		setDraft(undefined)
		setBase(theirs)
		form.reset(merged.values)
		setConflicts(merged.conflicts)
	}
	const failed = (cause: unknown) => setTrouble(describe(cause))

	const submit = async (): Promise<boolean> => {
		form.clearErrors()
		setTrouble(undefined)
		const wrong = Object.entries(rules).flatMap(([name, rule]) => {
			const problem = problemOf(rule as FieldRules, form.getValues(name as Path<T>))
			return problem ? [[name, problem] as const] : []
		})
		if (show([...wrong, ...(check?.(form.getValues()) ?? [])])) return false
		try {
			const sent = { ...form.getValues() }
			await save(changes(base.values, sent), base.version, sending.options().idempotencyKey)
			writeDraft(key, undefined)
			if (staysOpen) {
				setMerged(false)
				await follow(sent).catch(failed)
			} else isSaved.current = true
			return true
		} catch (error) {
			if (isConflict(error) && reload) {
				// Said once it is so.
				await follow().then(() => setMerged(true), failed)
			} else if (!show(fieldErrors(error).map(([name, message]) => [nameOf(name), message] as const))) setTrouble(describe(error))
			sending.failed(error)
			return false
		}
	}

	const [isSaving, setSaving] = useState(false)
	return {
		form,
		isDirty,
		isSaving,
		isSaved,
		trouble,
		draftedAt: draft?.savedAt,
		conflicts,
		/** Whether another person changed the record while this form was open. */
		isMerged,
		/** After another write of this person, beside the form, has made a version. */
		follow: () => follow().catch(failed),
		save: () =>
			once(JSON.stringify(form.getValues()), async () => {
				if (isSaving) return false
				setSaving(true)
				return submit().finally(() => setSaving(false))
			}),
		discard: () => {
			writeDraft(key, undefined)
			setDraft(undefined)
			setConflicts([])
			form.reset(base.values)
		},
		choose: ({ name, mine, theirs }: FieldConflict, choice: 'mine' | 'theirs') => {
			form.setValue(name as Path<T>, (choice === 'mine' ? mine : theirs) as never, { shouldDirty: true })
			setConflicts((open) => open.filter((conflict) => conflict.name !== name))
		},
	}
}

export type RecordForm<T extends FieldValues> = ReturnType<typeof useRecordForm<T>>

/** Written 300 ms after the last change; a form that is as it was has none. */
function useKeepDraft<T>(key: readonly (string | number)[], values: T, isDirty: boolean, isSaved: { current: boolean }): void {
	const text = JSON.stringify(values)
	const name = key.join(' ')
	// biome-ignore lint/correctness/useExhaustiveDependencies: `text` and `name` stand for what is compared by content.
	useEffect(() => {
		const timer = setTimeout(() => isSaved.current || writeDraft(key, isDirty ? values : undefined), 300)
		return () => clearTimeout(timer)
	}, [text, name, isDirty])
}
