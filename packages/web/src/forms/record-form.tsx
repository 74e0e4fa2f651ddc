import { type ReactNode, useEffect } from 'react'
import type { FieldValues } from 'react-hook-form'
import { useSession } from '../api/session.ts'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { keyOf, shortcuts } from '../ui/keys.ts'
import { onFirstUse } from '../ui/on-first-use.tsx'
import type { ConflictWords } from './conflict.tsx'
import { LeaveGuard } from './leave-guard.tsx'
import { OnlyFor } from './only-for.tsx'
import { type Needed, ReadOnly } from './read-only.tsx'
import type { RecordForm as Form } from './use-record-form.ts'
import './record-form.css'

const Conflicts = onFirstUse(() => import('./conflict.tsx'))

interface RecordFormProps<T extends FieldValues> {
	readonly form: Form<T>
	readonly children: ReactNode
	readonly action: string
	readonly onSaved: () => void
	readonly onCancel: () => void
	readonly locale: string
	/** Who may save it. */
	readonly need?: Needed
	/** What else can follow saving; Ctrl or ⌘ with Enter does it. */
	readonly second?: { readonly action: string; readonly onSaved: () => void } | undefined
	readonly conflictWords?: ConflictWords
}

/** The frame of every form of a record: errors, conflicts and the draft above, Save and Cancel below. */
export function RecordForm<T extends FieldValues>({
	form,
	children,
	action,
	onSaved,
	onCancel,
	locale,
	need,
	...props
}: RecordFormProps<T>) {
	const { second, conflictWords } = props
	const { is } = useSession()
	const maySave = need === undefined || is(need)
	const save = async (then = onSaved) => {
		if (maySave && (await form.save())) then()
	}
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			const does = shortcuts.find(({ keys }) => keys === keyOf(event))?.does
			const then = does === 'save' ? onSaved : does === 'saveAndSend' ? second?.onSaved : undefined
			if (!then || document.querySelector('.scrim')) return
			event.preventDefault()
			if (form.conflicts.length === 0) void save(then)
		}
		addEventListener('keydown', press)
		return () => removeEventListener('keydown', press)
	})
	// Whoever loses the role while they type keeps what they typed.
	if (need && !maySave && form.isNew && !form.isDirty)
		return (
			<OnlyFor need={need} toCreate>
				{children}
			</OnlyFor>
		)
	const wrong = Object.keys(form.form.formState.errors).length
	return (
		<form
			className="record-form"
			noValidate
			onSubmit={(event) => {
				event.preventDefault()
				void save()
			}}
		>
			<LeaveGuard isDirty={form.isDirty} isSaved={form.isSaved} onDiscard={form.discard} />
			{form.conflicts.length > 0 && <Conflicts conflicts={form.conflicts} onChoose={form.choose} wordsOf={conflictWords} />}
			{form.isMerged && form.conflicts.length === 0 && (
				<Banner tone="accent">Somebody else changed this meanwhile; their changes are in the form now. Save again.</Banner>
			)}
			{form.isNewer && form.isDirty && <Banner tone="accent">Saved. What you typed meanwhile is not saved yet.</Banner>}
			{form.draftedAt !== undefined && form.isDirty && !form.isMerged && (
				<Banner
					tone="accent"
					action={
						<Button isSmall onPress={form.discard}>
							Discard
						</Button>
					}
				>
					Unsaved changes from {new Date(form.draftedAt).toLocaleTimeString(locale, { timeStyle: 'short' })}
				</Banner>
			)}
			{form.trouble && (
				<ErrorPanel isSmall title={form.trouble.title} advice={form.trouble.advice} requestId={form.trouble.requestId} />
			)}
			{wrong > 1 && <ErrorPanel isSmall title={`${wrong} fields need a look`} advice="Each says below what is wrong." />}
			<div className="form-fields" inert={form.isFixed}>
				<ReadOnly need={need}>{children}</ReadOnly>
			</div>
			<footer className="form-actions">
				<Button onPress={onCancel}>{maySave ? 'Cancel' : 'Back'}</Button>
				{maySave && second && (
					<Button isDisabled={form.isSaving || form.conflicts.length > 0} onPress={() => void save(second.onSaved)}>
						{second.action}
					</Button>
				)}
				{maySave && (
					<Button type="submit" look="primary" isPending={form.isSaving} isDisabled={form.conflicts.length > 0}>
						{action}
					</Button>
				)}
			</footer>
		</form>
	)
}
