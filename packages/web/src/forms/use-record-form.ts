// A form of one record: what changed is the PATCH, what another changed meanwhile is merged, what is not saved outlasts a reload.
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type DefaultValues, type FieldValues, type Path, useForm, useWatch } from 'react-hook-form'
import { describe, fieldErrors, isConflict, type Trouble } from '../api/errors.ts'
import { useIdempotencyKey } from '../api/idempotency-key.ts'
import { useOnePress } from '../api/one-press.ts'
import { type Draft, readDraft, writeDraft } from './draft.ts'
import { changes, type FieldConflict, merge, numbered } from './merge.ts'
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
	/** What of it is sent, such as without the lines on which nothing was written. */
	readonly sentOf?: (values: T) => T
	/** Whether nothing can be typed while it is saved: always so for a new record. */
	readonly waits?: boolean
	/** Whether the form is still there when it is saved, and goes on with what the server has then (`reload`). */
	readonly staysOpen?: boolean
}

export function useRecordForm<T extends FieldValues>(options: RecordFormOptions<T>) {
	const { values, version, rules, save, reload, check, nameOf = (name) => name } = options
	const { sentOf = (all) => all, staysOpen = false, waits = !reload } = options
	const [base, setBase] = useState({ values, version })
	const key = [...options.draftKey, base.version]
	const [draft, setDraft] = useState<Draft<T> | undefined>(() => readDraft<T>(key))
	const [conflicts, setConflicts] = useState<readonly FieldConflict[]>([])
	const [trouble, setTrouble] = useState<Trouble>()
	const [isMerged, setMerged] = useState(false)
	const [isNewer, setNewer] = useState(false)
	const sending = useIdempotencyKey()
	const once = useOnePress()
	const [isSaving, setSaving] = useState(false)
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

	/** Takes over what the server has now; what was typed since it was `sent`, or else since the form began, stays. */
	const follow = async (sent?: T) => {
		const theirs = await (reload as NonNullable<typeof reload>)()
		const [from, mine] = sent ? numbered(sentOf(sent), sentOf(form.getValues()), theirs.values) : [base.values, form.getValues()]
		const merged = merge(from, mine, theirs.values)
		writeDraft(key, undefined)
		setDraft(undefined)
		setBase(theirs)
		form.reset(merged.values)
		// What was sent is stored, perhaps spelled in another way: that is nobody else's change.
		setConflicts(sent ? [] : merged.conflicts)
	}
	const failed = (cause: unknown) => setTrouble(describe(cause))

	const submit = async (): Promise<boolean> => {
		form.clearErrors()
		setTrouble(undefined)
		setNewer(false)
		const wrong = Object.entries(rules).flatMap(([name, rule]) => {
			const problem = problemOf(rule as FieldRules, form.getValues(name as Path<T>))
			return problem ? [[name, problem] as const] : []
		})
		if (show([...wrong, ...(check?.(form.getValues()) ?? [])])) return false
		const focused = document.activeElement
		try {
			const sent = structuredClone(form.getValues())
			await save(changes(base.values, sent), base.version, sending.options().idempotencyKey)
			writeDraft(key, undefined)
			const typed = reload !== undefined && Object.keys(changes(sent, form.getValues())).length > 0
			if (staysOpen || typed) {
				setMerged(false)
				await follow(sent).catch(failed)
				setNewer(typed)
			} else isSaved.current = true
			return staysOpen || !typed
		} catch (error) {
			if (waits) {
				// The fields take the focus again.
				flushSync(() => setSaving(false))
				if (focused instanceof HTMLElement) focused.focus()
			}
			if (isConflict(error) && reload) {
				// Said once it is so.
				await follow().then(() => setMerged(true), failed)
			} else if (!show(fieldErrors(error).map(([name, message]) => [nameOf(name), message] as const))) setTrouble(describe(error))
			sending.failed(error)
			return false
		}
	}

	return {
		form,
		isDirty,
		isSaving,
		isSaved,
		/** Of a record that is not there yet. */
		isNew: !reload,
		/** Whether nothing can be typed, which would be lost: while a form that waits is saved, and once the form leads on. */
		isFixed: isSaved.current || (isSaving && waits),
		/** Whether something was typed while the form was saved: it is not saved yet. */
		isNewer,
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
			setNewer(false)
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
