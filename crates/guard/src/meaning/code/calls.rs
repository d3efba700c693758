//! The calls of scripting languages that run, delete, write, read or fetch.

use crate::words::ByWord;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    Run,
    Delete,
    DeleteTree,
    Write,
    Open,
    Read,
    Fetch,
    Evaluate,
    Mode,
    Move,
    Copy,
    Link,
}

/// What a call does, by the end of the name before its parenthesis.
pub static CALLS: ByWord<Call> = by_word! {
    "os.system os.popen subprocess.run subprocess.call subprocess.Popen Popen check_call
     check_output getoutput getstatusoutput os.execvp os.execv os.execl os.execlp os.spawnl
     os.spawnlp pty.spawn execSync execFileSync execFile spawnSync spawn .exec system popen
     shell_exec passthru proc_open IO.popen os.execute io.popen Kernel.exec Open3.capture2
     Open3.capture3 Bun.spawn Deno.Command Deno.run Process.spawn %x" => Call::Run;
    "os.remove os.unlink os.rmdir unlinkSync fs.unlink promises.unlink unlink File.delete
     File.unlink FileUtils.rm FileUtils.rm_f rmdir" => Call::Delete;
    "os.RemoveAll Deno.remove Deno.removeSync rmdirSync shutil.rmtree rmtree os.removedirs
     rmSync fs.rm promises.rm fs.rmdir rimraf removeSync emptyDirSync FileUtils.rm_rf
     FileUtils.rm_r FileUtils.remove_dir remove_tree Remove-Item" => Call::DeleteTree;
    "writeFileSync writeFile appendFileSync appendFile createWriteStream truncateSync
     file_put_contents File.write os.truncate Deno.writeTextFile Bun.write os.mkdir os.makedirs
     mkdirSync" => Call::Write;
    "open openSync" => Call::Open;
    "io.lines readfile readFileSync readFile file_get_contents File.read createReadStream
     Deno.readTextFile" => Call::Read;
    "urlopen fetch" => Call::Fetch;
    "exec eval" => Call::Evaluate;
    "chmod chmodSync" => Call::Mode;
    "rename os.rename os.replace shutil.move renameSync fs.rename File.rename FileUtils.mv" => Call::Move;
    "copy shutil.copy shutil.copy2 shutil.copyfile shutil.copytree copyFileSync cpSync
     FileUtils.cp FileUtils.cp_r" => Call::Copy;
    "os.symlink symlinkSync File.symlink os.link" => Call::Link;
};
