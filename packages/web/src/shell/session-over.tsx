import { useQueryClient } from '@tanstack/react-query'
import { sessionQuery } from '../api/session.ts'
import { goOn, startAfresh } from '../api/session-over.ts'
import { forgetDrafts } from '../forms/draft.ts'
import { SignInForm } from '../forms/sign-in-form.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** Over the page, so that what was typed there stays; another person gets a page of their own. */
export default function SessionOver({ onReturn }: { onReturn: () => void }) {
	const person = useQueryClient().getQueryData(sessionQuery.queryKey)
	const goOnAs = (personId: string) => {
		if (personId === person?.personId) {
			goOn()
			onReturn()
			return
		}
		forgetDrafts()
		startAfresh('/')
	}
	return (
		<Dialog title="Sign in again" isOpen isKept onClose={onReturn}>
			<p>Your session is over. What you typed is still here, and goes on where you were.</p>
			<SignInForm email={person?.email} onSignedIn={goOnAs} />
		</Dialog>
	)
}
